import { defineConfig } from '@hey-api/openapi-ts';

/** The REST client's generated half: types, one function an operation, and the fetch client under them. */
export default defineConfig({
  input: '../gateway/openapi.json',
  output: { path: 'src/generated', clean: true, module: { extension: '.js' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', operations: { strategy: 'flat' } }],
});
