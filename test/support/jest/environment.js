import { createRequire } from 'node:module';
import { createContext } from 'node:vm';

const ofJest = createRequire(createRequire(import.meta.url).resolve('jest-environment-node'));
const { ModernFakeTimers } = ofJest('@jest/fake-timers');
const { ModuleMocker } = ofJest('jest-mock');

const context = createContext({});

/** Node's own globals, which the files of a worker share. */
export default class NativeEnvironment {
  global = {};
  fakeTimersModern;
  jest;

  constructor({ projectConfig }) {
    const timers = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    const mocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = timers;
    this.jest = {
      spyOn: mocker.spyOn.bind(mocker),
      restoreAllMocks: mocker.restoreAllMocks.bind(mocker),
      useFakeTimers: timers.useFakeTimers.bind(timers),
      useRealTimers: timers.useRealTimers.bind(timers),
    };
  }

  setup() {
    delete Error.prepareStackTrace; // Node maps lines to their sources by itself
  }

  teardown() {
    this.fakeTimersModern.dispose();
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

  getVmContext() {
    return context;
  }
}
