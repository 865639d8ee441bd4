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
const crdt = ['update_data', 'version_restore'] as const;
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

const withGroup = <G extends string, V extends string>(group: G, verbs: readonly V[]) =>
  verbs.map((verb): `${G}.${V}` => `${group}.${verb}`);

const commentTypes = [...withGroup('comment_annotation', thread), ...withGroup('comment', comment)];
const huddleTypes = withGroup('huddle', huddle);
const crdtTypes = withGroup('crdt', crdt);
const recorderTypes = withGroup('recorder', recorder);

export const triggerTypes = [...commentTypes, ...huddleTypes, ...crdtTypes, ...recorderTypes] as const;
export type TriggerType = (typeof triggerTypes)[number];

export const mailedTypes = [...commentTypes, ...huddleTypes] as const;
export type MailedType = (typeof mailedTypes)[number];

export const eventTypes = [...triggerTypes, ...workflow, ...operational] as const;
export type EventType = (typeof eventTypes)[number];

const operationalTypes: ReadonlySet<string> = new Set(operational);

/** Whether events of this type are about deliveries or endpoints. */
export function isOperational(event: string): boolean {
  return operationalTypes.has(event);
}

export type Triggers = Readonly<Partial<Record<TriggerType, boolean>>>;

const optIn: ReadonlySet<TriggerType> = new Set([
  'comment_annotation.suggestion_accept',
  'comment_annotation.suggestion_reject',
]);

function triggers(groups: readonly (readonly [readonly TriggerType[], boolean])[]): Triggers {
  return Object.fromEntries(groups.flatMap(([types, on]) => types.map((type) => [type, on && !optIn.has(type)])));
}

export const defaultWebhookTriggers: Triggers = triggers([
  [commentTypes, true],
  [huddleTypes, true],
  [crdtTypes, false],
  [recorderTypes, false],
]);

export const defaultEmailTriggers: Triggers = triggers([
  [commentTypes, true],
  [huddleTypes, true],
]);
