/**
 * Replaces a module of a package by the same module of the process, which `environment.mjs` loads. Node then loads the
 * package once for all test files that run in the process.
 */
export default {
  process: () => ({ code: 'module.exports = requireShared(__filename);' }),
};
