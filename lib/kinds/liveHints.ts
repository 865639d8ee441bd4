import { hintCatalogue } from '../live/rules/hints.ts';
import { contentKinds } from './contentKinds.ts';

export const liveHints = hintCatalogue(contentKinds);

type TypesOf<H> = H extends { readonly types: infer T } ? keyof T : never;

export type HintType = TypesOf<(typeof contentKinds)[number]['hint']> | 'access.update';
