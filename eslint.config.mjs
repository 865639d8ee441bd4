import { defineConfig } from 'eslint/config';
import importSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

/** Import patterns of `@typescript-eslint/no-restricted-imports`. A block of the configuration replaces those of earlier blocks. */
const middy = { regex: '^@middy/', message: 'Only lib/http/stack.ts uses middy.' };
const awsAndHttp = {
  regex: '^(@aws-sdk|@smithy|@aws-lambda-powertools|@middy)/|^aws-lambda$|^(\\.\\./)+http/',
  message: 'Rules know neither AWS nor HTTP.',
};
const functions = {
  regex: '/functions/',
  allowTypeImports: true,
  message: 'A bundle would contain the other function too.',
};
const HANDLERS = 'Handlers of test/support/functionHandlers.ts have the permissions and variables of a deployment.';
const handlers = [
  {
    regex: '/functions/(v1|v2|workers)/(?!index)',
    importNamePattern: '^handler$',
    message: HANDLERS,
  },
  {
    regex: '/lib/(http|workers)/(lambda|page)\\.ts$',
    importNamePattern: '^to(Lambda|LambdaWithTwin|Page|WorkerLambda)$',
    message: HANDLERS,
  },
];
const siblings = { ...functions, regex: '^\\./|^(\\.\\./)+(?!lib/|infra/|\\.\\./)' };
// An import of the whole library loads three times as many modules as an import of its core.
const paths = [{ name: 'aws-cdk-lib', message: 'Import from aws-cdk-lib/core.' }];
const imports = (...patterns) => ({ '@typescript-eslint/no-restricted-imports': ['error', { paths, patterns }] });

/** Selectors of `no-restricted-syntax`. A block of the configuration replaces those of earlier blocks. */
const zodNames = {
  selector: 'ImportDeclaration[source.value="zod"] > :matches(ImportSpecifier, ImportDefaultSpecifier)',
  message: 'Import zod as a namespace, which makes a bundle 350 kB smaller.',
};
const defaultExports = {
  selector: ':matches(ExportDefaultDeclaration, ExportSpecifier[exported.name="default"])',
  message: 'Exports have names.',
};
const environment = {
  selector: 'MemberExpression[object.name="process"][property.name="env"]',
  message: 'The environment is read in one place per function, and passed on.',
};
const clients = {
  selector: 'NewExpression[callee.name=/Client$/]:not(:function *, PropertyDefinition *)',
  message: 'Clients are made at the first request, never at import.',
};
const sideEffects = {
  selector:
    'Program > :matches(ExpressionStatement, IfStatement, ForStatement, ForInStatement, ForOfStatement, WhileStatement, DoWhileStatement, SwitchStatement, TryStatement, ThrowStatement, ImportDeclaration[specifiers.length=0])',
  message: 'A module has no side effects, so package.json lets bundles leave out modules that they do not use.',
};
const clocks = {
  selector:
    ':matches(MemberExpression[object.name=/^(Date|performance)$/][property.name="now"], NewExpression[callee.name="Date"][arguments.length=0], MemberExpression[object.name="Math"][property.name="random"], Identifier[name=/^(hrtime|randomUUID|randomBytes|randomInt|getRandomValues)$/])',
  message: 'Rules get the time and ids as values.',
};
const dynamicImports = { selector: 'ImportExpression', message: 'A function imports at its start.' };
const syntax = (...selectors) => ({ 'no-restricted-syntax': ['error', zodNames, ...selectors] });
const code = [defaultExports, clients, sideEffects];

const rules = ['lib/*/rules.ts', 'lib/*/rules/**/*.ts'];

/**
 * The strict preset of typescript-eslint. Rules that need types are in .oxlintrc.json, because oxlint checks them with the
 * native compiler, in a fifth of the time. Formatting is left to prettier. What they cannot express is tested:
 * the layout of folders (test/unit/app/layout.test.ts) and texts of all kinds of files (test/unit/app/conventions.test.ts).
 */
export default defineConfig(
  { ignores: ['dist', 'cdk.out', 'coverage', 'reports', '**/*.mjs', 'infra/local/console/page/*.js'] },
  {
    files: ['{functions,lib,infra,test}/**/*.ts'],
    extends: [tseslint.configs.strict],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { 'import-sort': importSort },
    rules: {
      // Modules that are imported for their effect, then modules of Node, packages, and our files: those further away first.
      'import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^\\.\\.', '^\\.']] }],
      'no-duplicate-imports': 'error',
      // Without its types, such an import still loads the module.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      ...imports(),
      ...syntax(),
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
      // Answers are read as a client without types does. The types check the paths and data of right calls: customer.ok of test/support/customer.ts.
      '@typescript-eslint/no-explicit-any': 'off',
      // A missing value fails the test with a stack trace at the place that expects it.
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  { files: ['test/{integration,contract,support}/**/*.ts'], rules: imports(...handlers) },
  { files: ['test/support/{functionHandlers,endpoint}.ts'], rules: imports() },
  { files: ['infra/**/*.ts'], rules: { ...imports(middy), ...syntax(defaultExports) } },
  {
    files: ['functions/**/*.ts'],
    rules: { ...imports(middy, siblings), ...syntax(...code, environment, dynamicImports) },
  },
  { files: ['functions/{index,pages,workers/index}.ts'], rules: imports(middy) },
  { files: ['functions/{v1,v2,workers}/**/*.ts'], rules: { 'max-lines': ['error', 100] } },
  { files: ['lib/**/*.ts'], rules: { ...imports(middy, functions), ...syntax(...code, environment) } },
  { files: rules, rules: { ...imports(awsAndHttp, functions), ...syntax(...code, environment, clocks) } },
  // These read the environment of a function, and pass it on.
  {
    files: [
      'lib/http/{asset,lambda,page}.ts',
      'lib/workers/lambda.ts',
      'lib/observability/log.ts',
      'functions/default.ts',
    ],
    rules: syntax(...code),
  },
  { files: ['lib/http/stack.ts'], rules: imports(functions) },
  { files: ['lib/http/middlewares.ts'], rules: imports({ ...middy, allowTypeImports: true }, functions) },
);
