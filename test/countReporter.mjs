/** Ends the run with one plain line that scripts can read. Jest's default reporter prints its summary earlier. */
export default class CountReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    process.once('exit', () =>
      console.log(`\n${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed`),
    );
  }
}
