# Run by the image of PostgreSQL when the database is made: the service's role, which owns nothing
# (docs/operating.md, "A role that owns no table").
psql --quiet --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "${POSTGRES_DB:-$POSTGRES_USER}" <<'SQL'
\getenv password POSTGRES_SERVICE_PASSWORD
create role parcelhook_service login password :'password';
SQL
