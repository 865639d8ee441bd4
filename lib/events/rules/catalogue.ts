/**
 * Every event that the service knows (spec 6): what triggers and filters may name. Whoever checks an event type, seeds
 * triggers or documents payloads derives it from here.
 */

const thread = [
  'add',
  'assign',
  'status_change',
  'priority_change',
  'custom_list_change',
  'subscribe',
  'unsubscribe',
  'accept',
  'reject',
  'approve',
  'suggestion_accept',
  'suggestion_reject',
] as const;
const comment = ['add', 'update', 'delete', 'reaction_add', 'reaction_delete'] as const;
const huddle = ['create', 'join'] as const;
const crdt = ['update_data'] as const;
const recorder = ['done'] as const;
const workflow = [
  'execution.dispatched',
  'execution.completed',
  'execution.failed',
  'execution.cancelled',
  'step.awaiting-approval',
  'step.completed',
  'step.failed',
  'step.breached',
  'step.cancelled',
  'group.quorum-met',
  'loop.iteration-started',
  'loop.exhausted',
] as const;
const operational = ['message.attempt.exhausted', 'endpoint.disabled'] as const;

const named = <G extends string, V extends string>(group: G, verbs: readonly V[]) =>
  verbs.map((verb): `${G}.${V}` => `${group}.${verb}`);

const commentTypes = [...named('comment_annotation', thread), ...named('comment', comment)];
const huddleTypes = named('huddle', huddle);
const crdtTypes = named('crdt', crdt);
const recorderTypes = named('recorder', recorder);

/** The types that the trigger maps of basic webhooks and e-mail may name. */
export const triggerTypes = [...commentTypes, ...huddleTypes, ...crdtTypes, ...recorderTypes] as const;
export type TriggerType = (typeof triggerTypes)[number];

/** The types that an advanced webhook endpoint may subscribe to: all there are. */
export const eventTypes = [...triggerTypes, ...workflow, ...operational] as const;
export type EventType = (typeof eventTypes)[number];

const operationalTypes: ReadonlySet<string> = new Set(operational);

/** Whether an event tells of deliveries themselves. */
export function isOperational(event: string): boolean {
  return operationalTypes.has(event);
}

/** Which event types are on: a flat map. */
export type Triggers = Readonly<Partial<Record<TriggerType, boolean>>>;

/** Suggestions are on only for those who ask for them. */
const optIn: ReadonlySet<TriggerType> = new Set([
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
]);

function triggers(groups: readonly (readonly [readonly TriggerType[], boolean])[]): Triggers {
  return Object.fromEntries(groups.flatMap(([types, on]) => types.map((type) => [type, on && !optIn.has(type)])));
}

/** What the first enabling of basic webhooks turns on (spec 4.7 rule 1): comments and huddles; CRDT, recorder and suggestions off. */
export const defaultWebhookTriggers: Triggers = triggers([
  [commentTypes, true],
  [huddleTypes, true],
  [crdtTypes, false],
  [recorderTypes, false],
]);

/** What the first enabling of e-mail turns on (spec 4.8 rule 1): comments and huddles; suggestions off. */
export const defaultEmailTriggers: Triggers = triggers([
  [commentTypes, true],
  [huddleTypes, true],
]);
