/** ESM and TypeScript as they are: the transformer only strips types. Tests run on the engines, hence the timeout. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/transformer.mjs' },
  testEnvironment: 'node',
  testTimeout: 30_000,
  reporters: ['default', '<rootDir>/test/countReporter.mjs'],
};
