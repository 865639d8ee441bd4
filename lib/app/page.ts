import type * as z from 'zod';
import type { Asset } from './asset.ts';
import type { Capability, Opened, Uses } from './capability.ts';
import type { Endpoint, Log } from './endpoint.ts';
import type { Html } from '../shared/html.ts';

/** What a browser is shown. */
export interface View {
  /** The HTTP status. */
  readonly status: number;
  readonly title: string;
  readonly body: Html;
}

/** Everything that a page may use. */
export interface PageCall<Input, U extends Uses> {
  readonly input: Input;
  readonly deps: Opened<U>;
  /** When the request arrived, epoch milliseconds. */
  readonly now: number;
  readonly log: Log;
}

/** One page for people, declared once like an endpoint: route, function, IAM, environment, bundle and alarm text derive from it. */
export interface PageDeclaration<I extends z.ZodType, U extends Uses> {
  readonly path: `/v2/${string}`;
  readonly summary: string;
  /** The schema of the fields, which come in the address when the page is opened and in its form when a button is pressed. */
  readonly input: I;
  /** Mail programs press its button by themselves, at the same address (RFC 8058): the fields come in the address then too. */
  readonly oneClick?: true;
  readonly uses: U;
  /** What is broken for whom when this page fails: the text of its alarm. */
  readonly impact: string;
  readonly timeoutSeconds?: number;
  readonly memoryMb?: number;
}

export interface PageRun<I extends z.ZodType, U extends Uses> {
  /** Answers GET and HEAD. It must change nothing: mail scanners and previews open links too. */
  readonly show: (call: PageCall<z.output<I>, U>) => Promise<View>;
  /** Answers POST: somebody pressed the button. */
  readonly submit: (call: PageCall<z.output<I>, U>) => Promise<View>;
}

/** A page is public and has no other headers than a browser's: what it may do depends on its fields. */
interface PageKind {
  readonly auth: 'none';
  readonly kind: 'page';
}

export interface PageOf<I extends z.ZodType, U extends Uses> extends PageDeclaration<I, U>, PageRun<I, U>, PageKind {}

/** A page whose types are not needed, as the registry's readers see it. */
export type Page = PageDeclaration<z.ZodType, Record<string, Capability<unknown>>> &
  PageKind & {
    readonly [name in keyof PageRun<z.ZodType, Uses>]: (call: never) => Promise<View>;
  };

/** Whatever stands behind a route of the API. */
export type Routed = Endpoint | Page | Asset;

/** An endpoint that shares the function of another one. */
export type Twin = Endpoint & { readonly twinOf: string };

export function isTwin(routed: Routed): routed is Twin {
  return 'twinOf' in routed;
}

/** Declares a page. Importing a declaration has no effect, as with endpoints. */
export function definePage<I extends z.ZodType, U extends Uses>(
  declaration: PageDeclaration<I, U>,
  run: PageRun<I, U>,
): PageOf<I, U> {
  return { ...declaration, ...run, auth: 'none', kind: 'page' };
}

/** `POST /v2/users/add`. A page gets the requests of every method, so that a browser is never answered with JSON; an asset is read. */
export function routeKey({ kind, path }: Pick<Routed, 'kind' | 'path'>): string {
  return `${kind === 'page' ? 'ANY' : kind === 'asset' ? 'GET' : 'POST'} ${path}`;
}
