import { commentVerbs, huddleVerbs } from '../../workspaces/rules/groupedTriggers.ts';

/** The verbs of basic payloads (facts B6): those that the grouped triggers know, and those of the other sources. */
const basicVerbs = { ...commentVerbs, ...huddleVerbs, updateData: 'crdt.update_data', done: 'recorder.done' } as const;

const verbOf: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  Object.entries(basicVerbs).map(([verb, type]) => [type, verb]),
);

/** `actionType` of an advanced payload: an event type without its group, in camel case, as in `updateData` (facts B7). */
export function advancedActionType(event: string): string {
  return event.slice(event.indexOf('.') + 1).replace(/[._-](.)/g, (_, letter: string) => letter.toUpperCase());
}

/** `actionType` of a basic payload, as in `newlyAdded` for `comment_annotation.add` (facts B6). */
export function basicActionType(event: string): string {
  return verbOf.get(event) ?? advancedActionType(event);
}
