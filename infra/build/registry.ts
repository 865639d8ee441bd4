import * as registry from '../../functions/index.ts';
import * as pages from '../../functions/pages.ts';
import * as workers from '../../functions/workers/index.ts';
import type { Asset } from '../../lib/app/asset.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import type { Page, Routed } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';

/** Returns every registered endpoint. */
export function registeredEndpoints(): readonly Endpoint[] {
  return Object.values(registry as Record<string, Endpoint>);
}

/**
 * Returns every registered page, and every asset, which is a public file such as the API reference. Browsers open them.
 * They are not part of the API.
 */
export function registeredPages(): readonly (Page | Asset)[] {
  return Object.values(pages as Record<string, Page | Asset>);
}

/** Returns the registered assets. */
export function registeredAssets(): readonly Asset[] {
  return registeredPages().filter((page) => page.kind === 'asset');
}

/**
 * Returns every registered declaration that has a route: endpoints with their twins in the other API version, pages and
 * assets.
 */
export function registeredRoutes(): readonly Routed[] {
  return [...registeredEndpoints(), ...registeredPages()];
}

/** Returns every registered worker. */
export function registeredWorkers(): readonly Worker[] {
  return Object.values(workers as Record<string, Worker>);
}
