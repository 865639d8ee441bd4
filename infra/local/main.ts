/**
 * `npm start`. `runSystem.ts` is imported dynamically, because Node would compile a static import before the cache is
 * enabled.
 */
import { enableCompileCache } from 'node:module';
import { resolve } from 'node:path';

// Child processes inherit the variable.
process.env.NODE_COMPILE_CACHE ??= resolve(import.meta.dirname, '../../dist/compileCache');
enableCompileCache(process.env.NODE_COMPILE_CACHE);
await import('./runSystem.ts');
