import { transformSync } from 'esbuild';

export default {
  process(source, filename) {
    const { code, map } = transformSync(source, { loader: 'ts', format: 'esm', target: 'node24', sourcemap: 'both', sourcefile: filename });
    return { code, map };
  },
};
