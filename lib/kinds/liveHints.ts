import { hintCatalogue } from '../live/rules/hints.ts';
import { contentKinds } from './contentKinds.ts';

/** The hints and pushes of all kinds of content. */
export const liveHints = hintCatalogue(contentKinds);

type TypesOf<H> = H extends { readonly types: infer T } ? keyof T : never;

/** The type of a hint. */
export type HintType = TypesOf<(typeof contentKinds)[number]['hint']> | 'access.update';
