/**
 * Replaces the AWS SDK's cache of discovered endpoints in the bundles (see build.ts). Functions do not use endpoint
 * discovery, so the cache stays empty. The SDK's own cache would add a library of 7 kB to every bundle that uses the table.
 */
export class EndpointCache {
  getEndpoint(): undefined {}
  get(): undefined {}
  set(): void {}
  delete(): void {}
  clear(): void {}
  has(): boolean {
    return false;
  }
}
