-- What nothing filters by is one text. The phases, addresses and headers of earlier attempts are lost.
--   detail           JSON (send/detail.ts): phases, the receiver's address, headers, and more about the error. Null of a
--                    scheduled success unless LOG_DETAIL=all, where the outcome is unknown, and of an erased shipment
alter table deliveries
  add column detail text,
  drop column dns_ms, drop column connect_ms, drop column tls_ms, drop column first_byte_ms,
  drop column remote_address, drop column error_detail, drop column response_headers, drop column request_headers;
alter table attempts
  add column detail text,
  drop column dns_ms, drop column connect_ms, drop column tls_ms, drop column first_byte_ms,
  drop column remote_address, drop column error_detail, drop column response_headers, drop column request_headers;
