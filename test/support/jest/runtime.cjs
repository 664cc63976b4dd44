const { pathToFileURL } = require('node:url');

let files = 0;

/**
 * Jest's runtime without a context for each file: Node itself loads the modules (hooks.js), and those of `src` and of
 * packages once for all files of a worker. Evaluating them anew for each file took a third of the suite's CPU.
 */
module.exports = class NativeRuntime {
  #query;

  constructor(...args) {
    const { watch, watchAll } = args[7];
    files += 1;
    this.#query = `?file=${files}${watch || watchAll ? '&watched' : ''}`;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href + this.#query);
  }

  /** Circus begins anew with each file; it keeps its state in its module and in a global. */
  requireInternalModule(path) {
    if (path.includes('source-map-support')) return { install: () => undefined }; // Node maps by itself
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  /** globals.js reads them. */
  setGlobalsForRuntime(globals) {
    globalThis[Symbol.for('parcelhook.jest')] = globals;
  }

  enterTestCode() {}
  leaveTestCode() {}
  getSourceMaps() {}
  getAllCoverageInfoCopy() {}
  teardown() {}
};
