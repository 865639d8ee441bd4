if (Number.parseInt(process.versions.node, 10) < 24) {
  throw new Error(
    `The tests need Node 24, and this is ${process.versions.node}. Run "npm test -- <files>": npm scripts use the Node that npm ci installs.`,
  );
}

/** Large packages that keep no state between tests. Jest would load them again for each file. */
const sharedPackages = '(aws-cdk-lib|cdk-nag|constructs|typescript)/';

/** Runs ESM and TypeScript as they are: Jest only strips the types, as Node.js does. */
export default {
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // `npm run test:engine` and `npm run test:lambda` run these.
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.DYNAMODB_LOCAL_URL ? [] : ['<rootDir>/test/engine/']),
    ...(process.env.LAMBDA_TESTS ? [] : ['<rootDir>/test/lambda/']),
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { [`/node_modules/${sharedPackages}`]: '<rootDir>/test/sharedPackages.mjs' },
  transformIgnorePatterns: [`/node_modules/(?!${sharedPackages})`],
  testEnvironment: '<rootDir>/test/environment.mjs',
  // The texts of zod in fifty languages would be a third of the modules of many tests. None of them uses another language.
  moduleNameMapper: { '^\\.\\./locales/index\\.js$': 'zod/v4/locales/en.js' },
  // Ends only tests that hang. No test takes so long on a slow machine.
  testTimeout: 300_000,
  testSequencer: '<rootDir>/test/sequencer.mjs',
  // One more than the cores of the smallest machine, because tests wait a third of their time: for the engine, a
  // process or the clock. A worker that uses too much memory is replaced.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
  reporters: ['default', '<rootDir>/test/countReporter.mjs'],
};
