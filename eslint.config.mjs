import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

/**
 * The strict preset of typescript-eslint, with types. Formatting is left to prettier. What eslint cannot express is tested:
 * the layout of folders (test/unit/app/layout.test.ts) and conventions of this project (test/unit/app/conventions.test.ts).
 */
export default defineConfig(
  { ignores: ['dist', 'cdk.out', 'coverage', 'reports', '**/*.mjs', 'infra/local/console/page/*.js'] },
  {
    files: ['{functions,lib,infra,test}/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './infra/local/console/page/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // An import of the whole library loads three times as many modules as an import of its core.
      'no-restricted-imports': ['error', { name: 'aws-cdk-lib', message: 'Import from aws-cdk-lib/core.' }],
      // Numbers and booleans are clear in a text. Objects and undefined stay errors.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // `() => stop()` as a callback without a result needs no block.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidOperator: true },
      ],
      // `void` marks a promise that nobody waits for, also where the types know that it is void.
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      // `{ tenant, ...rest }` leaves a property out. A name that begins with _ is not used on purpose.
      '@typescript-eslint/no-unused-vars': [
        'error',
        {
          ignoreRestSiblings: true,
          argsIgnorePattern: '^_',
          varsIgnorePattern: '^_',
          destructuredArrayIgnorePattern: '^_',
          caughtErrors: 'none',
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      // Tests read answers of the API as a client without types does: a wrong path fails the assertion.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      // A missing value fails the test with a stack trace at the place that expects it.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Stubs have the types of what they replace.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
);
