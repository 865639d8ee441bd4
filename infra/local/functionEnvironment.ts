import type { FunctionModel } from './model.ts';

/**
 * The whole environment of a function's thread: the template's variables and what Lambda adds to them. They may differ
 * from a deployed function's in nothing but the service's name, the way to AWS, and that webhooks may reach this
 * machine, so that a variable that is missing in the template is missing here too.
 */
export function functionEnvironment(model: FunctionModel, serviceName: string, aws: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...model.environment,
    ...('SERVICE_NAME' in model.environment && { SERVICE_NAME: serviceName }),
    ...aws,
    ALLOW_LOOPBACK_DELIVERY: 'true',
    AWS_LAMBDA_FUNCTION_NAME: model.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(model.memoryMb),
    // Without it Powertools takes a start for one of provisioned concurrency and counts no cold starts.
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  };
}

/** The variables of all functions together, for the operator: the same name means the same thing everywhere. */
export function sharedEnvironment(functions: readonly FunctionModel[], serviceName: string): Record<string, string> {
  return Object.assign({}, ...functions.map(({ environment }) => environment), { SERVICE_NAME: serviceName }) as Record<string, string>;
}
