import type { Options } from 'minisearch';

/** A place that the search finds. */
export interface Place {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly page: string;
}

/** How places are indexed and found. The build and the page use the same options. */
export const searchOptions: Options<Place> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page'],
  searchOptions: { boost: { title: 3 }, prefix: true, combineWith: 'AND' },
};
