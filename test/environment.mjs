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
  }
}
