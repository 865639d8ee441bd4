import type * as z from 'zod';
import type { Log } from '../observability/log.ts';
import type { Html } from '../shared/html.ts';
import type { Asset } from './asset.ts';
import type { Capability, Opened, Uses } from './capability.ts';
import type { Endpoint } from './endpoint.ts';

export interface View {
  /** The HTTP status. */
  readonly status: number;
  readonly title: string;
  readonly body: Html;
}

/** The argument of a page's `show` and `submit`. */
export interface PageCall<Input, U extends Uses> {
  readonly input: Input;
  readonly deps: Opened<U>;
  /** The time of the request in epoch ms. */
  readonly now: number;
  readonly log: Log;
}

/** A page for browsers. Its route, function, IAM policy, environment, bundle and alarm derive from this declaration. */
export interface PageDeclaration<I extends z.ZodType, U extends Uses> {
  readonly path: `/v2/${string}`;
  readonly summary: string;
  /** The schema of the fields. A GET sends them in the query string, a POST in the form. */
  readonly input: I;
  /** True if mail programs send the POST without opening the page (RFC 8058). The fields are then in the query string. */
  readonly oneClick?: true;
  readonly uses: U;
  /** The text of the page's alarm: what is broken when the page fails, and for whom. */
  readonly impact: string;
}

export interface PageRun<I extends z.ZodType, U extends Uses> {
  /** Answers GET and HEAD. It must not change anything, because mail scanners also open links. */
  readonly show: (call: PageCall<z.output<I>, U>) => Promise<View>;
  /** Answers POST, which the button of the page sends. */
  readonly submit: (call: PageCall<z.output<I>, U>) => Promise<View>;
}

/** Every page is public. A token in its fields authorizes the change that `submit` makes. */
interface PageKind {
  readonly auth: 'none';
  readonly kind: 'page';
}

export interface PageOf<I extends z.ZodType, U extends Uses> extends PageDeclaration<I, U>, PageRun<I, U>, PageKind {}

/** A page with any type parameters, for code that reads the list of all declarations. */
export type Page = PageDeclaration<z.ZodType, Record<string, Capability<unknown>>> &
  PageKind & {
    readonly [name in keyof PageRun<z.ZodType, Uses>]: (call: never) => Promise<View>;
  };

/** A declaration that has a route. */
export type Routed = Endpoint | Page | Asset;

/** An endpoint that shares the function of another endpoint. */
export type Twin = Endpoint & { readonly twinOf: string };

export function isTwin(routed: Routed): routed is Twin {
  return 'twinOf' in routed;
}

/** Declares a page. Importing the declaration has no side effects. */
export function definePage<I extends z.ZodType, U extends Uses>(
  declaration: PageDeclaration<I, U>,
  run: PageRun<I, U>,
): PageOf<I, U> {
  return { ...declaration, ...run, auth: 'none', kind: 'page' };
}

/** The route for CORS preflight requests. It exists if at least one endpoint is open to users. */
export const PREFLIGHT_ROUTE = 'OPTIONS /{proxy+}';

/** The event that keeps an instance of a function. No request of the gateway has this form. */
export const PING = { ping: true };

/** Returns whether an endpoint is open to users, who call it from browsers. */
export function isOpenToUsers(routed: Routed): boolean {
  return 'user' in routed;
}

const routeMethods = { page: 'ANY', asset: 'GET', read: 'POST', write: 'POST' } as const;

/**
 * Returns the route key of a declaration, such as `POST /v2/users/add`. The route of a page matches every HTTP method. Otherwise
 * browsers would get JSON for methods that the page does not support.
 */
export function routeKey({ kind, path }: Pick<Routed, 'kind' | 'path'>): string {
  return `${routeMethods[kind]} ${path}`;
}

/**
 * Returns all route keys of a declaration. An asset has routes for HEAD, because link checkers and caches send it, and routes for
 * its pages, if it has some.
 */
export function routeKeys(routed: Pick<Routed, 'kind' | 'path'> & { readonly hasPages?: true }): string[] {
  if (routed.kind !== 'asset') return [routeKey(routed)];
  const paths = [routed.path, ...(routed.hasPages ? [`${routed.path}/{page}`] : [])];
  return paths.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]);
}
