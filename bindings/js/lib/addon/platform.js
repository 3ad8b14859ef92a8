'use strict';

/** The system that the process runs on, and the names of the packages with the native part for it. */

/** Returns the version of glibc; null if the C library is another one, as musl on Alpine Linux. */
function glibcVersion() {
  const {excludeNetwork} = process.report;
  process.report.excludeNetwork = true; // a report with it looks up the names of hosts, which can take seconds
  const version = process.report.getReport().header.glibcVersionRuntime;
  process.report.excludeNetwork = excludeNetwork;
  return version ?? null;
}

/** Returns the name of the system as packages have it, such as 'linux-x64-gnu' or 'darwin-arm64'. */
function platformName() {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform !== 'linux') return name;
  return `${name}-${glibcVersion() === null ? 'musl' : 'gnu'}`;
}

/** Describes the system and Node.js for a message. */
function describeSystem() {
  const parts = [`${process.platform} ${process.arch}`, `Node.js ${process.version}`];
  if (process.platform === 'linux') {
    const version = glibcVersion();
    parts.splice(1, 0, version === null ? 'a C library that is not glibc (musl?)' : `glibc ${version}`);
  }
  return parts.join(', ');
}

module.exports = {glibcVersion, platformName, describeSystem};
