/** Without this script, pages can still be read. */
import { setUpAuthorize } from './credentials.ts';
import { setUpFilter } from './filter.ts';
import { setUpHash } from './hash.ts';
import { setUpRequests } from './requests.ts';
import { setUpSamples } from './samples.ts';
import { setUpSearch } from './search.ts';

setUpSearch();
setUpSamples();
setUpFilter();
setUpAuthorize();
setUpRequests();
setUpHash();
