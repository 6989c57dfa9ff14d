module device-insights/load

go 1.19
