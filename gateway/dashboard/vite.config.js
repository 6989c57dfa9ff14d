import { readFileSync } from 'node:fs';
import { defineConfig } from 'vite';
import { parse } from 'yaml';

const gateway = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** The schemas of both interfaces, as they are in the package, so that the documents serve what the tests check. */
const schemas = {
  name: 'schemas',
  generateBundle() {
    const asyncapi = JSON.stringify(parse(gateway('asyncapi.yaml')), null, 2);
    this.emitFile({ type: 'asset', fileName: 'openapi.json', source: gateway('openapi.json') });
    this.emitFile({ type: 'asset', fileName: 'asyncapi.json', source: `${asyncapi}\n` });
  },
};

// Builds the pages of the dashboard into the package: gateway/src/dashboard/files.ts serves what lies in dist/pages.
export default defineConfig({
  base: '/dashboard/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [schemas],
  build: {
    outDir: '../dist/pages',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: { input: ['index.html', 'docs.html'] },
  },
});
