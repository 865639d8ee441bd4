/**
 * Import this file as a namespace: a bundle then contains the SQS client only if it uses one of the capabilities. If
 * the file exported one object with all of them, esbuild would keep it whole.
 */
import type { Capability, QueueName } from '../app/capability.ts';
import { queueVariable } from './queues.ts';
import { openSender, type QueueSender } from './sender.ts';

export const deliver = /* @__PURE__ */ sending('deliver');
export const deliverSlow = /* @__PURE__ */ sending('deliverSlow');
export const mail = /* @__PURE__ */ sending('mail');
export const jobs = /* @__PURE__ */ sending('jobs');
export const embed = /* @__PURE__ */ sending('embed');
export const sweep = /* @__PURE__ */ sending('sweep');

function sending(name: QueueName): Capability<QueueSender> {
  const variable = queueVariable[name];
  return {
    grants: [{ resource: `queue/${name}`, actions: ['SendMessage'] }],
    env: [variable],
    open: (env) => openSender(env[variable]),
  };
}
