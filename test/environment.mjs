import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * A Jest environment for Node whose global object is an ordinary object. In Jest's own environment, each use of a
 * global name such as `Array` calls a proxy. That takes half of the time of busy code such as the AWS SDK.
 */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      vm.createContext = createContext;
    }
    if (process.env.JUMPING_CLOCK) letClockJump(this.global);
  }
}

/**
 * Each reading of the clock is up to a second later than the one before, as on a machine that is suspended again and
 * again. A test that passes here does not need two readings in the same second.
 */
function letClockJump(global) {
  let ahead = 0;
  global.Date = class extends global.Date {
    static now() {
      return super.now() + Math.floor((ahead += Math.random() * 1_000));
    }

    constructor(...parts) {
      super(...(parts.length > 0 ? parts : [global.Date.now()]));
    }
  };
}
