/** The REST client's generated half: types, one function an operation, and the fetch client under them (`npm run generate`). */
export default {
  input: '../gateway/openapi.json',
  output: { path: 'src/generated', clean: true, module: { extension: '.js' } },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', { name: '@hey-api/sdk', operations: { strategy: 'flat' } }],
};
