/** Makes the types of the REST client from the service's OpenAPI document (`npm run generate`). */
export default {
  input: '../gateway/openapi.json',
  output: { path: 'src/generated', clean: true, module: { extension: '.js' } },
  plugins: [{ name: '@hey-api/typescript', comments: true }],
};
