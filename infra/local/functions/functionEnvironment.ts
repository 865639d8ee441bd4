import type { FunctionModel } from '../assembly/functionModel.ts';

/** Variables of `npm start` that replace those of the template, in the same units. */
export const localVariables = [
  'CALL_BURST_SECONDS',
  'DUE_MARGIN_SECONDS',
  'EDITOR_VERSIONS_IN_SECONDS',
  'EXPENSIVE_CALLS_PER_SECOND_PER_KEY',
  'MAILS_PER_RECIPIENT_PER_HOUR',
  'MAILS_PER_WRITER_PER_HOUR',
  'MAIL_RETRY_SCHEDULE',
  'READS_PER_SECOND_PER_KEY',
  'RECONCILE_AFTER_SECONDS',
  'WEBHOOK_RETRY_SCHEDULE',
  'WRITES_PER_SECOND_PER_KEY',
] as const;

export type EnvironmentOverrides = Readonly<
  Partial<Record<'SERVICE_NAME' | 'SLACK_API_URL' | (typeof localVariables)[number], string>>
>;

/**
 * A deployment has no overrides, no AWS endpoints, no ALLOW_LOOPBACK_DELIVERY (webhooks to this machine), no
 * EDITOR_VERSIONS_IN_SECONDS (minutes of automatic versions are seconds) and no STRICT_OUTPUT (an undeclared field of an
 * answer is an error).
 */
export function functionEnvironment(
  model: FunctionModel,
  overrides: EnvironmentOverrides,
  aws: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...model.environment,
    ...Object.fromEntries(
      Object.entries(overrides).filter(([name]) => name in model.environment || name === 'EDITOR_VERSIONS_IN_SECONDS'),
    ),
    ...aws,
    ALLOW_LOOPBACK_DELIVERY: 'true',
    STRICT_OUTPUT: 'true',
    AWS_LAMBDA_FUNCTION_NAME: model.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(model.memoryMb),
    // Powertools counts cold starts only with this value.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
}

/** For the operator's commands. A variable has one value in all functions. */
export function sharedEnvironment(
  functions: readonly FunctionModel[],
  overrides: EnvironmentOverrides,
): Record<string, string> {
  return Object.assign({}, ...functions.map(({ environment }) => environment), overrides) as Record<string, string>;
}
