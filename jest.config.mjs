/** ESM and TypeScript as they are: the transformer only strips types. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/transformer.mjs' },
  testEnvironment: '<rootDir>/test/environment.mjs',
  // For what hangs; how slow the machine is must not matter.
  testTimeout: 300_000,
  // Jest leaves a core to the user and would run everything in one process; a fresh one now and then keeps memory small.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/countReporter.mjs'],
};
