declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  const SwaggerUI: (options: object) => unknown;
  export default SwaggerUI;
}
