// The minimal native call with node-addon-api that returns a wrapped object: the peer of the Node.js benchmark.
#include <napi.h>

class Bare : public Napi::ObjectWrap<Bare> {
 public:
  static Napi::Object Init(Napi::Env env, Napi::Object exports) {
    Napi::Function constructor = DefineClass(env, "Bare", {InstanceMethod("add", &Bare::Add)});
    auto* kept = new Napi::FunctionReference(Napi::Persistent(constructor));
    env.SetInstanceData(kept);
    exports.Set("Bare", constructor);
    return exports;
  }

  explicit Bare(const Napi::CallbackInfo& info) : Napi::ObjectWrap<Bare>(info) {}

 private:
  Napi::Value Add(const Napi::CallbackInfo& info) {
    return info.Env().GetInstanceData<Napi::FunctionReference>()->New({});
  }
};

Napi::Object Init(Napi::Env env, Napi::Object exports) { return Bare::Init(env, exports); }
NODE_API_MODULE(bare, Init)
