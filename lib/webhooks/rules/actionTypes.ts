import { commentVerbs, huddleVerbs } from '../../workspaces/rules/groupedTriggers.ts';

const basicVerbs = { ...commentVerbs, ...huddleVerbs, updateData: 'crdt.update_data', done: 'recorder.done' } as const;

const verbOf: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  Object.entries(basicVerbs).map(([verb, type]) => [type, verb]),
);

/** The event type without its group, in camel case, such as `updateData`. */
export function advancedActionType(event: string): string {
  return event.slice(event.indexOf('.') + 1).replace(/[._-](.)/g, (_, letter: string) => letter.toUpperCase());
}

export function basicActionType(event: string): string {
  return verbOf.get(event) ?? advancedActionType(event);
}
