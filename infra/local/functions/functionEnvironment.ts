import type { FunctionModel } from '../assembly/functionModel.ts';

/** The settings that may be others here than in the template, so that nobody who tries something out has to wait for it. */
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

/** Values of variables that replace the template's, in functions that have these variables. */
export type Replaced = Readonly<Partial<Record<'SERVICE_NAME' | (typeof localVariables)[number], string>>>;

/**
 * The whole environment of a function's thread: the template's variables and what Lambda adds to them. They may differ
 * from a deployed function's in nothing but the service's name, how long deliveries wait, the way to AWS, that webhooks
 * may reach this machine, and that an undeclared output fails, so that a variable that is missing in the template is missing here too.
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
    // Without it Powertools takes a start for one of provisioned concurrency and counts no cold starts.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
}

/** The variables of all functions together, for the operator: the same name means the same thing everywhere. */
export function sharedEnvironment(functions: readonly FunctionModel[], replaced: Replaced): Record<string, string> {
  return Object.assign({}, ...functions.map(({ environment }) => environment), replaced) as Record<string, string>;
}
