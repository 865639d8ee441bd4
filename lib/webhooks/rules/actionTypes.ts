import { commentVerbs, huddleVerbs } from '../../workspaces/rules/groupedTriggers.ts';

/** The action types of basic payloads, each with its event type. Other event types have the action type of advanced payloads. */
const basicVerbs = { ...commentVerbs, ...huddleVerbs, updateData: 'crdt.update_data', done: 'recorder.done' } as const;

const verbOf: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  Object.entries(basicVerbs).map(([verb, type]) => [type, verb]),
);

/** Returns the `actionType` of an advanced payload: the event type without its group, in camel case. For example `updateData`. */
export function advancedActionType(event: string): string {
  return event.slice(event.indexOf('.') + 1).replace(/[._-](.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns the `actionType` of a basic payload, for example `newlyAdded` for `comment_annotation.add`. */
export function basicActionType(event: string): string {
  return verbOf.get(event) ?? advancedActionType(event);
}
