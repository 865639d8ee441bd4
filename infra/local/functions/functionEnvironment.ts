import type { FunctionModel } from '../assembly/functionModel.ts';

/** Variables that `npm start` may override, to shorten waiting times. */
export const localVariables = [
  'CALL_BURST_SECONDS',
  'DUE_MARGIN_SECONDS',
  'EXPENSIVE_CALLS_PER_SECOND_PER_KEY',
  'MAIL_RETRY_SCHEDULE',
  'READS_PER_SECOND_PER_KEY',
  'RECONCILE_AFTER_SECONDS',
  'WEBHOOK_RETRY_SCHEDULE',
  'WRITES_PER_SECOND_PER_KEY',
] as const;

/** Overrides of the template's variables. Each applies to the functions that have the variable. */
export type Replaced = Readonly<Partial<Record<'SERVICE_NAME' | (typeof localVariables)[number], string>>>;

/**
 * Returns the whole environment of a function's thread: the template's variables, and those that Lambda adds. It
 * differs from a deployed function only in the overrides, the AWS endpoints, the permission to send webhooks to
 * this machine, and errors for undeclared output. A variable missing in the template is missing here too.
 */
export function functionEnvironment(
  model: FunctionModel,
  replaced: Replaced,
  aws: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...model.environment,
    ...Object.fromEntries(Object.entries(replaced).filter(([name]) => name in model.environment)),
    ...aws,
    ALLOW_LOOPBACK_DELIVERY: 'true',
    STRICT_OUTPUT: 'true',
    AWS_LAMBDA_FUNCTION_NAME: model.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(model.memoryMb),
    // Without it Powertools assumes provisioned concurrency and counts no cold starts.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
}

/**
 * Returns the variables of all functions, for the operator's commands. A variable has the same value in every function.
 */
export function sharedEnvironment(functions: readonly FunctionModel[], replaced: Replaced): Record<string, string> {
  return Object.assign({}, ...functions.map(({ environment }) => environment), replaced) as Record<string, string>;
}
