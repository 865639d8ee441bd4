import type { Options } from 'minisearch';

export interface Place {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly page: string;
}

/** The build and the page must index and search with the same options. */
export const searchOptions: Options<Place> = {
  fields: ['title', 'page', 'text'],
  storeFields: ['title', 'page'],
  searchOptions: { boost: { title: 3 }, prefix: true, combineWith: 'AND' },
};
