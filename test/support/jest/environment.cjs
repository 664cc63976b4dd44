const { createContext } = require('node:vm');

const context = createContext({});

/** The files of a worker share Node's own globals. Jest, which would change them, gets this `global` and `context`. */
module.exports = class NativeEnvironment {
  global = {};

  getVmContext() {
    return context;
  }

  setup() {
    delete Error.prepareStackTrace; // Node maps lines to their sources by itself
  }

  /** Jest leaves out the lines of functions without a name, which are most of a test's. */
  handleTestEvent({ error, test, hook }) {
    if (!error) return;
    for (const one of [error, test?.asyncError, hook?.asyncError])
      if (one?.stack) one.stack = one.stack.replaceAll('at <anonymous> (', 'at anonymous (');
  }

  exportConditions() {
    return ['node'];
  }

  teardown() {}
};
