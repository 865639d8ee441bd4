import vm from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';

/**
 * Jest's environment for Node, with a global object like any other. Jest makes one that asks a proxy at each use of a global name, `Array` and
 * `Object` too, which takes half of the time of code as busy as the AWS SDK.
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
 * Each look at the clock is up to a second later than the one before, as on a machine that is suspended again and again.
 * A test that passes does not depend on two looks within the same second.
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
