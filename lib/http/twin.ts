import * as z from 'zod';
import type { Uses } from '../app/capability.ts';
import {
  type AuthLevel,
  type Endpoint,
  type EndpointCall,
  type EndpointOf,
  otherVersion,
  type TwinOf,
} from '../app/endpoint.ts';
import { ANSWER_BYTES, isLongerThan } from '../shared/bytes.ts';
import { type ApiError, invalid } from '../shared/errors.ts';
import { withFieldChanges } from '../shared/schema.ts';

const MAX_PAGES = 5;

interface CommonDifference<I extends z.ZodType> {
  /** By default the path in the other version of the API. */
  readonly path?: Endpoint['path'];
  readonly differs?: string;
  readonly message?: string;
  readonly ignored?: readonly (keyof z.input<I> & string)[];
  readonly required?: readonly (keyof z.input<I> & string)[];
}

/** A twin has a route of its own to the function of the endpoint. */
export function defineTwin<I extends z.ZodType, O extends z.ZodType, U extends Uses, A extends AuthLevel>(
  endpoint: EndpointOf<I, O, U, A>,
  {
    path = otherVersion(endpoint.path),
    differs,
    message = endpoint.message as string,
    ignored = [],
    required = [],
  }: CommonDifference<I> = {},
): TwinOf<z.ZodType<z.output<I>, z.input<I>>, O, U, A> {
  const isSameInput = ignored.length + required.length === 0;
  return {
    ...endpoint,
    path,
    twinOf: endpoint.path,
    message,
    input: isSameInput
      ? (endpoint.input as unknown as z.ZodType<z.output<I>, z.input<I>>)
      : withFieldChanges(endpoint.input, { ignored, required }),
    ...(differs !== undefined && { differs }),
  };
}

interface PagedAnswer {
  readonly data: unknown;
  readonly nextPageToken?: string | null;
  readonly pageToken?: string | null;
}

interface UnpagedDifference<I extends z.ZodType, R extends z.ZodType> extends CommonDifference<I> {
  readonly narrowBy: keyof z.output<I> & string;
  readonly row: R;
  readonly toRow?: (row: never) => z.output<R>;
  readonly join?: (rows: readonly never[], page: readonly never[]) => readonly unknown[];
}

const pagingFields = ['order', 'pageSize', 'pageToken'];

/**
 * The twin of a listing returns all rows of at most five pages in one answer. If there are more, or above 5 MB, it
 * throws INVALID_ARGUMENT, which names `narrowBy`.
 */
export function defineUnpagedTwin<
  I extends z.ZodType,
  O extends z.ZodType,
  U extends Uses,
  A extends AuthLevel,
  R extends z.ZodType,
>(
  endpoint: EndpointOf<I, O, U, A>,
  {
    differs = 'without pages',
    ignored = [],
    narrowBy,
    row,
    toRow = (same) => same,
    join = (rows, page) => [...rows, ...page],
    ...difference
  }: UnpagedDifference<I, R>,
): TwinOf<
  z.ZodType<z.output<I>, Omit<z.input<I>, 'order' | 'pageSize' | 'pageToken'>>,
  z.ZodObject<{ data: z.ZodArray<R> }>,
  U,
  A
> {
  const unpaged = [...ignored, ...pagingFields];
  const twin = defineTwin(endpoint, { ...difference, differs, ignored: unpaged as unknown as typeof ignored });
  const { data, result } = endpoint.example as { data: object; result: { data: readonly never[] } };
  return {
    ...twin,
    narrowBy,
    output: z.object({ data: z.array(row) }),
    example: {
      data: Object.fromEntries(Object.entries(data).filter(([key]) => !unpaged.includes(key))),
      result: { data: result.data.map(toRow) },
    },
    run: async (call: EndpointCall<z.output<I>, U, A>) => {
      let rows: readonly never[] = [];
      let pageToken: string | null | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const input = { ...(call.input as object), ...(pageToken && { pageToken }) } as z.output<I>;
        const answer = (await endpoint.run({ ...call, input })) as unknown as PagedAnswer;
        rows = join(rows, answer.data as readonly never[]) as readonly never[];
        pageToken = answer.nextPageToken ?? answer.pageToken;
        if (!pageToken) return { data: rows.map(toRow) };
        if (isLongerThan(JSON.stringify(rows), ANSWER_BYTES)) break;
      }
      throw tooManyRows(narrowBy, endpoint.path);
    },
  } as never;
}

function tooManyRows(narrowBy: string, path: string): ApiError {
  return invalid({
    path: [narrowBy],
    code: 'answer_too_large',
    message: `There is too much for one answer: narrow it by ${narrowBy}, or read it in pages from ${path}`,
  });
}
