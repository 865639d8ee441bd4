/** Ends the run with one plain line that scripts can read; the default reporter prints its summary before the process exits. */
export default class CountReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    process.once('exit', () =>
      console.log(`\n${numPassedTests} passed, ${numFailedTests + numRuntimeErrorTestSuites} failed`),
    );
  }
}
