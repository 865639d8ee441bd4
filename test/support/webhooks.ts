import { type Customer, newCustomer } from './customer.ts';

const ADVANCED = '/v2/workspace/advancedwebhook';

/** The paths of the webhook endpoints. */
export const paths = {
  getConfig: '/v2/workspace/advancedwebhookconfig/get',
  updateConfig: '/v2/workspace/advancedwebhookconfig/update',
  create: `${ADVANCED}/endpoints/create`,
  list: `${ADVANCED}/endpoints/get`,
  update: `${ADVANCED}/endpoints/update`,
  delete: `${ADVANCED}/endpoints/delete`,
  getSecret: `${ADVANCED}/endpoints/secret/get`,
  rotate: `${ADVANCED}/endpoints/secret/rotate`,
  getBasic: '/v2/workspace/webhookconfig/get',
  updateBasic: '/v2/workspace/webhookconfig/update',
} as const;

/** Makes a call. Returns `done`, or the error's status and message. */
export async function outcome(
  customer: Customer,
  path: string,
  data: unknown,
): Promise<'done' | readonly [status: string, message: string]> {
  const { status, body } = await customer.call(path, data);
  return status === 200 ? 'done' : [body.error.status, body.error.message];
}

/** Creates a customer who has advanced webhooks turned on. */
export async function newWebhookCustomer(): Promise<Customer> {
  const customer = await newCustomer();
  await customer.ok(paths.updateConfig, { isEnabled: true });
  return customer;
}
