import { useEffect, useRef } from 'preact/hooks';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';

interface Request {
  url: string;
  headers: Record<string, string>;
}

/** The REST interface: Swagger UI with the service's own schema. All requests go to this service. */
export function Rest({ apiKey }: { readonly apiKey: string }) {
  const place = useRef<HTMLDivElement>(null);
  const key = useRef(apiKey);
  key.current = apiKey;
  useEffect(() => {
    SwaggerUI({
      domNode: place.current,
      url: '/docs/openapi.json',
      validatorUrl: null,
      deepLinking: false,
      tryItOutEnabled: true,
      persistAuthorization: false,
      defaultModelsExpandDepth: 0,
      requestInterceptor: (request: Request) => {
        if (key.current !== '') request.headers.Authorization = `Bearer ${key.current}`;
        return request;
      },
    });
  }, []);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
    follow();
    dark.addEventListener('change', follow);
    return () => dark.removeEventListener('change', follow);
  }, []);
  return <div ref={place} />;
}
