import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { Html } from '../shared/html.ts';
import type { Asset } from './asset.ts';
import type { Capability, Opened, Uses } from './capability.ts';
import type { Endpoint } from './endpoint.ts';

export interface View {
  readonly status: number;
  readonly title: string;
  readonly body: Html;
}

export interface PageCall<Input, U extends Uses> {
  readonly input: Input;
  readonly deps: Opened<U>;
  readonly now: number;
  readonly log: Log;
}

export interface PageDeclaration<I extends z.ZodType, U extends Uses> {
  readonly path: `/v2/${string}`;
  readonly summary: string;
  /** A GET sends the fields in the query string, a POST in the form, or in the query string if `oneClick` is set. */
  readonly input: I;
  /** Mail programs send the POST without opening the page (RFC 8058). */
  readonly oneClick?: true;
  readonly uses: U;
  readonly impact: string;
}

export interface PageRun<I extends z.ZodType, U extends Uses> {
  /** A GET or HEAD must change nothing, because mail scanners open links. */
  readonly show: (call: PageCall<z.output<I>, U>) => Promise<View>;
  readonly submit: (call: PageCall<z.output<I>, U>) => Promise<View>;
}

interface PageKind {
  readonly auth: 'none';
  readonly kind: 'page';
}

export interface PageOf<I extends z.ZodType, U extends Uses> extends PageDeclaration<I, U>, PageRun<I, U>, PageKind {}

export type Page = PageDeclaration<z.ZodType, Record<string, Capability<unknown>>> &
  PageKind & {
    readonly [name in keyof PageRun<z.ZodType, Uses>]: (call: never) => Promise<View>;
  };

export type Routed = Endpoint | Page | Asset;

export type Twin = Endpoint & { readonly twinOf: string };

export function isTwin(routed: Routed): routed is Twin {
  return 'twinOf' in routed;
}

export function definePage<I extends z.ZodType, U extends Uses>(
  declaration: PageDeclaration<I, U>,
  run: PageRun<I, U>,
): PageOf<I, U> {
  return { ...declaration, ...run, auth: 'none', kind: 'page' };
}

export const PREFLIGHT_ROUTE = 'OPTIONS /{proxy+}';

/** This event keeps an instance of a function warm. No request of the gateway has this form. */
export const PING = { ping: true };

export function isOpenToUsers(routed: Routed): boolean {
  return 'user' in routed;
}

const routeMethods = { page: 'ANY', asset: 'GET', read: 'POST', write: 'POST' } as const;

/**
 * The route of a page has every HTTP method. Otherwise browsers would get JSON for methods that the page does not
 * support.
 */
export function routeKey({ kind, path }: Pick<Routed, 'kind' | 'path'>): string {
  return `${routeMethods[kind]} ${path}`;
}

/** An asset has routes for HEAD, because link checkers and caches send it. */
export function routeKeys(routed: Pick<Routed, 'kind' | 'path'> & { readonly hasPages?: true }): string[] {
  if (routed.kind !== 'asset') return [routeKey(routed)];
  const paths = [routed.path, ...(routed.hasPages ? [`${routed.path}/{page}`] : [])];
  return paths.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]);
}
