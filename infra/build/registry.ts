import * as registry from '../../functions/index.ts';
import * as pages from '../../functions/pages.ts';
import * as workers from '../../functions/workers/index.ts';
import type { Asset } from '../../lib/app/asset.ts';
import type { Endpoint } from '../../lib/app/endpoint.ts';
import type { Page, Routed } from '../../lib/app/page.ts';
import type { Worker } from '../../lib/app/worker.ts';

export function registeredEndpoints(): readonly Endpoint[] {
  return Object.values(registry as Record<string, Endpoint>);
}

export function registeredPages(): readonly (Page | Asset)[] {
  return Object.values(pages as Record<string, Page | Asset>);
}

export function registeredAssets(): readonly Asset[] {
  return registeredPages().filter((page) => page.kind === 'asset');
}

export function registeredRoutes(): readonly Routed[] {
  return [...registeredEndpoints(), ...registeredPages()];
}

export function registeredWorkers(): readonly Worker[] {
  return Object.values(workers as Record<string, Worker>);
}
