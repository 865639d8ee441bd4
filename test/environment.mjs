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
 * Each call of Date.now is up to a second later than the one before: as on a machine that is suspended again and again.
 * A test that passes does not depend on two calls in the same second.
 */
function letClockJump({ Date }) {
  const { now } = Date;
  let ahead = 0;
  Date.now = () => now() + Math.floor((ahead += Math.random() * 1_000));
}
