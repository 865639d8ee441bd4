import type { FunctionModel } from '../assembly/functionModel.ts';

/** The environment variables of functions that `npm start` can override. Their units are those of the template. */
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

/** The overrides of the template's environment variables. Each applies to the functions that have the variable. */
export type EnvironmentOverrides = Readonly<Partial<Record<'SERVICE_NAME' | (typeof localVariables)[number], string>>>;

/**
 * Returns the whole environment of a function's thread: the template's variables, and those that Lambda adds. It differs
 * from the environment of a deployed function in these variables only: the overrides, the AWS endpoints,
 * ALLOW_LOOPBACK_DELIVERY (webhooks to this machine) and STRICT_OUTPUT (an error for an undeclared field of an answer).
 */
export function functionEnvironment(
  model: FunctionModel,
  overrides: EnvironmentOverrides,
  aws: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...model.environment,
    ...Object.fromEntries(Object.entries(overrides).filter(([name]) => name in model.environment)),
    ...aws,
    ALLOW_LOOPBACK_DELIVERY: 'true',
    STRICT_OUTPUT: 'true',
    AWS_LAMBDA_FUNCTION_NAME: model.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(model.memoryMb),
    // Without this variable, Powertools assumes provisioned concurrency and counts no cold starts.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
}

/**
 * Returns the variables of all functions, for the operator's commands. A variable has the same value in every function.
 */
export function sharedEnvironment(
  functions: readonly FunctionModel[],
  overrides: EnvironmentOverrides,
): Record<string, string> {
  return Object.assign({}, ...functions.map(({ environment }) => environment), overrides) as Record<string, string>;
}
