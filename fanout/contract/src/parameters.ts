/** The device's own identifier, in the query of `/stream/ingest`. */
export const DEVICE_ID = /^(?!\.{1,2}$)[A-Za-z0-9._:-]{1,128}$/;

/** An API key, in the query of both sockets or in the header `Authorization`. */
export const API_KEY = /^svc_[0-9A-Za-z]{22,128}$/;
