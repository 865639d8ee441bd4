import type { FunctionModel } from '../assembly/functionModel.ts';

/**
 * The environment variables that functions get from `npm start` instead of the template if they are set there. The units are the
 * same as in the template.
 */
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

/**
 * The values that replace environment variables of the template. A value applies to the functions that have the
 * variable.
 */
export type EnvironmentOverrides = Readonly<Partial<Record<'SERVICE_NAME' | (typeof localVariables)[number], string>>>;

/**
 * Returns all environment variables of a function's thread: those of the template, and those that Lambda adds. A
 * deployed function has the same, except for the overrides, the AWS endpoints, and two variables.
 * ALLOW_LOOPBACK_DELIVERY allows webhooks to this machine. STRICT_OUTPUT makes an undeclared field of an answer an
 * error.
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
    // Without this variable, Powertools would assume provisioned concurrency and not count cold starts.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
}

/**
 * Returns the variables of all functions together, for the operator's commands. A variable has the same value in all
 * functions.
 */
export function sharedEnvironment(
  functions: readonly FunctionModel[],
  overrides: EnvironmentOverrides,
): Record<string, string> {
  return Object.assign({}, ...functions.map(({ environment }) => environment), overrides) as Record<string, string>;
}
